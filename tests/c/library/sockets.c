// The data of a socket is arbitrary and has the returned length.
// run: --check unreach-call,address,memory => TRUE
// run: --property valid-deref -DBUG=1 => FALSE(valid-deref)
// run: --property valid-deref -DBUG=2 => FALSE(valid-deref)
// run: --check unreach-call -DBUG=3 => FALSE(unreach-call)
// run: --check memory -DBUG=4 => FALSE(memory)
// native: unseen
// The violations of two runs are in library functions, which natively have no socket.
#include "../verify.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef BUG
#define BUG 0
#endif

int main(void) {
    char text[8];
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(80);
    address.sin_addr.s_addr = inet_addr("127.0.0.1");
    check(address.sin_addr.s_addr == htonl(0x7f000001));
    int on = 1, peer, file = socket(AF_INET, SOCK_STREAM, 0);
    if (file < 0)
        return 1;
    if (setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) || bind(file, (struct sockaddr *)&address, sizeof address) ||
        listen(file, 5) || (peer = accept(file, NULL, NULL)) < 0)
        return 1;
    ssize_t n = recv(peer, text, BUG == 1 ? 9 : 7, 0); // wrong: too long
    if (n > 0 || BUG == 2) {
        text[n] = 0; // wrong if nothing was received
        check(strlen(text) < 8);
        check(BUG != 3 || text[0] != 'x'); // wrong
        if (send(peer, text, BUG == 4 ? 8 : n, 0) < n) // wrong: more than was received
            return 1;
    }
    close(peer);
    return close(file);
}
