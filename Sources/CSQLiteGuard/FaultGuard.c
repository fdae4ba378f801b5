#define _GNU_SOURCE
#include "FaultGuard.h"
#include "CSQLiteGuard.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Pieces of 32 KiB, each for 4,096 pages of WAL. One database has 8 GiB of WAL watched; beyond that
// it is refused, so that a forged index does not use up what others need.
enum { PIECE_COUNT = 16384, PIECES_PER_DATABASE_MAX = 512 };

// The handler reads the table while others change it: a piece is valid while its owner is set, and
// the other fields never change meanwhile.
typedef struct piece {
    _Atomic(database *) owner;
    uintptr_t start;
    size_t size;
} piece;

static piece pieces[PIECE_COUNT];
static _Atomic(int) used_count;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous;
static uintptr_t page_size;

enum { SOUND, LOST, COUNTED };

int fault_guard_add(database *owner, void volatile *start, size_t size) {
    pthread_mutex_lock(&table_lock);
    piece *place = NULL;
    int answer = -1;
    int own_count = 0;
    int count = atomic_load(&used_count);
    for (int index = 0; index < count; index++) {
        database *holder = atomic_load(&pieces[index].owner);
        if (holder == owner && pieces[index].start == (uintptr_t)start) {
            answer = 0;
            break;
        }
        own_count += holder == owner;
        if (holder == NULL && place == NULL) place = &pieces[index];
    }
    if (answer != 0 && own_count >= PIECES_PER_DATABASE_MAX) {
        pthread_mutex_unlock(&table_lock);
        return -1;
    }
    if (answer != 0 && place == NULL && count < PIECE_COUNT) {
        place = &pieces[count];
        atomic_store(&used_count, count + 1);
    }
    if (answer != 0 && place != NULL) {
        place->start = (uintptr_t)start;
        place->size = size;
        atomic_store(&place->owner, owner);
        answer = 0;
    }
    pthread_mutex_unlock(&table_lock);
    return answer;
}

void fault_guard_remove(database *owner) {
    pthread_mutex_lock(&table_lock);
    int count = atomic_load(&used_count);
    for (int index = 0; index < count; index++) {
        if (atomic_load(&pieces[index].owner) == owner) atomic_store(&pieces[index].owner, NULL);
    }
    pthread_mutex_unlock(&table_lock);
    atomic_store(&owner->index_state, SOUND);
}

int fault_guard_is_lost(database *owner) {
    int state = atomic_load(&owner->index_state);
    if (state == SOUND) return 0;
    int lost = LOST;
    if (atomic_compare_exchange_strong(&owner->index_state, &lost, COUNTED)) {
        registry_refuse(owner, CSQLITEGUARD_INDEX_LOST);
    }
    return 1;
}

// ---- the handler: only what signal-safety(7) allows, and mmap, which is a plain system call ----

static int put_empty_page(uintptr_t address) {
    int count = atomic_load(&used_count);
    int is_ours = 0;
    // Two paths may lead to one file, and so to one mapping: each owner must know.
    for (int index = 0; index < count; index++) {
        database *owner = atomic_load(&pieces[index].owner);
        if (owner == NULL || address - pieces[index].start >= pieces[index].size) continue;
        atomic_store(&owner->index_state, LOST);
        is_ours = 1;
    }
    if (!is_ours) return 0;
    void *page = (void *)(address & ~(page_size - 1));
    return mmap(
               page,
               page_size,
               PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
               -1,
               0)
        != MAP_FAILED;
}

static void on_bus_error(int number, siginfo_t *info, void *context) {
    // BUS_ADRERR: the object that is mapped has no such page (sigaction(2)).
    if (info->si_code == BUS_ADRERR && put_empty_page((uintptr_t)info->si_addr)) return;
    if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != NULL) {
        previous.sa_sigaction(number, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(number);
    } else {
        // The default action: of the same access once more, or of the signal that was sent.
        sigaction(number, &previous, NULL);
        if (info->si_code <= 0) raise(number);
    }
}

int fault_guard_install(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct sigaction present;
    int answer = sigaction(SIGBUS, NULL, &present);
    int is_ours = (present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == on_bus_error;
    if (answer == 0 && !is_ours) {
        previous = present;
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = on_bus_error;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        answer = sigaction(SIGBUS, &action, NULL);
    }
    pthread_mutex_unlock(&lock);
    return answer;
}
