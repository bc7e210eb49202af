// Defines: socket socketpair bind connect listen accept accept4 shutdown recv recvfrom send sendto setsockopt getsockopt
// Defines: getsockname getpeername
#pragma once
#include "unistd.c"

// Sockets, like files: the environment determines the received data, and sent data is read. Addresses are bytes.

enum { proviso_longest_address = 128 };

// An address is stored as far as there is room. `size` becomes its full length.
static void proviso_store_address(void *buffer, unsigned *size) {
    unsigned room = *size, length = proviso_env_between(0, proviso_longest_address);
    unsigned stored = length < room ? length : room;
    if (stored)
        __proviso_env_memory(buffer, stored);
    *size = length;
}

static void proviso_store_peer(void *address, unsigned *size) {
    if (address)
        proviso_store_address(address, size);
}

// With MSG_TRUNC, the result may exceed the room. Data that MSG_PEEK returns is received again.
static ssize_t proviso_receive(int file, void *buffer, size_t size, int flags) {
    if (flags & 0x20)
        __proviso_unmodelled("MSG_TRUNC is not modelled");
    if (flags & 0x2)
        __proviso_overapproximated("a read after MSG_PEEK may return other data");
    return proviso_read_file(file, buffer, size);
}

// Opens a descriptor for reading and writing, with the flags in the type of a socket.
static int proviso_socket_flags(int type) { return (type & 02004000) | 2; }

int socket(int domain, int type, int protocol) { return proviso_descriptor(proviso_socket_flags(type), 0); }

int socketpair(int domain, int type, int protocol, int ends[2]) {
    return proviso_two_ends(ends, proviso_socket_flags(type), proviso_socket_flags(type));
}

int bind(int file, const void *address, unsigned size) {
    proviso_read(address, size);
    return proviso_outcome_of(file);
}

int connect(int file, const void *address, unsigned size) {
    proviso_read(address, size);
    return proviso_outcome_of(file);
}

int listen(int file, int backlog) { return proviso_outcome_of(file); }
int shutdown(int file, int how) { return proviso_outcome_of(file); }

static int proviso_accept(int file, void *address, unsigned *size, int flags) {
    _Bool closed = proviso_is_closed(file);
    int result = proviso_new_descriptor(proviso_socket_flags(flags), 0);
    __proviso_assume((result < 0) | !closed);
    SET_ERRNO_IF(result < 0, proviso_descriptor_error(closed));
    if (result >= 0)
        proviso_store_peer(address, size);
    return result;
}

int accept4(int file, void *address, unsigned *size, int flags) { return proviso_accept(file, address, size, flags); }

int accept(int file, void *address, unsigned *size) { return proviso_accept(file, address, size, 0); }

ssize_t recv(int file, void *buffer, size_t size, int flags) { return proviso_receive(file, buffer, size, flags); }

ssize_t recvfrom(int file, void *buffer, size_t size, int flags, void *address, unsigned *address_size) {
    ssize_t n = proviso_receive(file, buffer, size, flags);
    if (n >= 0)
        proviso_store_peer(address, address_size);
    return n;
}

ssize_t send(int file, const void *data, size_t size, int flags) { return proviso_write_file(file, data, size); }

ssize_t sendto(int file, const void *data, size_t size, int flags, const void *address, unsigned address_size) {
    if (address)
        proviso_read(address, address_size);
    return proviso_write_file(file, data, size);
}

int setsockopt(int file, int level, int option, const void *value, unsigned size) {
    if (value)
        proviso_read(value, size);
    return proviso_outcome_of(file);
}

// Options and addresses that were set before are not modelled here.
static void proviso_any_of_socket(void) {
    __proviso_overapproximated("two calls may return different options or addresses of a socket");
}

// Most options are numbers. Others may be shorter than the room.
int getsockopt(int file, int level, int option, void *value, unsigned *size) {
    int result = proviso_outcome_of(file);
    if (result == 0) {
        unsigned room = *size;
        proviso_any_of_socket();
        if (room > sizeof(int)) {
            *size = proviso_env_between(0, INT_MAX);
            __proviso_assume(*size <= room);
        }
        if (room)
            __proviso_env_memory(value, room);
    }
    return result;
}

int getsockname(int file, void *address, unsigned *size) {
    int result = proviso_outcome_of(file);
    if (result == 0) {
        proviso_any_of_socket();
        proviso_store_address(address, size);
    }
    return result;
}

int getpeername(int file, void *address, unsigned *size) {
    int result = proviso_outcome_of(file);
    if (result == 0) {
        proviso_any_of_socket();
        proviso_store_address(address, size);
    }
    return result;
}
