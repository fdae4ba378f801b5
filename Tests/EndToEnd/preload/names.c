// Never resolves names that begin with "hangs", as with a name server that does not answer. Loaded
// with LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict result) {
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (real == NULL) real = dlsym(RTLD_NEXT, "getaddrinfo");
    while (node != NULL && strncmp(node, "hangs", 5) == 0) pause();
    return real(node, service, hints, result);
}
