// Addresses of IPv6 as text have up to 45 characters.
// run: => TRUE
#include "../verify.h"
#include <arpa/inet.h>
#include <string.h>

int main(int argc, char **argv) {
    struct in6_addr address;
    if (argc < 2 || inet_pton(AF_INET6, argv[1], &address) != 1)
        return 1;
    char text[INET6_ADDRSTRLEN];
    if (!inet_ntop(AF_INET6, &address, text, sizeof text))
        return 1;
    check(strlen(text) < sizeof text);
    return 0;
}
