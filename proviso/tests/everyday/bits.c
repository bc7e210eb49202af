/* bits COMMAND NUMBER...: small tricks with the bits of unsigned numbers */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int popcount(uint32_t x) {
	int n = 0;
	while (x) {
		x &= x - 1;
		n++;
	}
	return n;
}

static uint32_t reverse(uint32_t x) {
	x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
	x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
	x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
	return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}

int main(int argc, char **argv) {
	if (argc < 3) {
		fprintf(stderr, "bits count|reverse|parity|power|hamming NUMBER...\n");
		return 64;
	}
	const char *command = argv[1];
	for (int i = 2; i < argc; i++) {
		uint32_t x = (uint32_t)strtoul(argv[i], NULL, 0);
		if (!strcmp(command, "count")) {
			printf("%d\n", popcount(x));
		} else if (!strcmp(command, "reverse")) {
			printf("0x%08x\n", reverse(x));
			if (reverse(x) == x && x != 0) puts("symmetric");
		} else if (!strcmp(command, "parity")) {
			puts(popcount(x) & 1 ? "odd" : "even");
		} else if (!strcmp(command, "power")) {
			if (x && !(x & (x - 1)))
				puts("power of two");
			else if (x == 0xffffffffu)
				puts("all ones");
			else
				puts("no");
		} else if (!strcmp(command, "hamming")) {
			if (i + 1 >= argc) {
				fputs("needs pairs\n", stderr);
				return 1;
			}
			uint32_t y = strtoul(argv[++i], NULL, 0);
			int d = popcount(x ^ y);
			printf("%d%s\n", d, d > 16 ? " far" : "");
		} else {
			fprintf(stderr, "unknown command %s\n", command);
			return 64;
		}
	}
	return 0;
}
