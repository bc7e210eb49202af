// The function that `contract.c` calls. It forgets the length of its output.
int unpack(const void *in, unsigned in_len, void *out, unsigned out_len) {
    for (unsigned i = 0; i < in_len; i++)
        ((char *)out)[i] = ((const char *)in)[i];
    return (int)out_len;
}

int main(void) { return 0; }
