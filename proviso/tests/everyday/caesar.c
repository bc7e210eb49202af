#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int shift(int c, int k)
{
	if (c >= 'a' && c <= 'z') return (c - 'a' + k) % 26 + 'a';
	if (c >= 'A' && c <= 'Z') return (c - 'A' + k) % 26 + 'A';
	return c;
}

int main(int argc, char **argv)
{
	int opt, key = 13, decode = 0, only_letters = 0;
	while ((opt = getopt(argc, argv, "dk:l")) != -1) {
		switch (opt) {
		case 'd': decode = 1; break;
		case 'l': only_letters = 1; break;
		case 'k':
			key = atoi(optarg);
			if (key < 1 || key > 25) {
				fprintf(stderr, "key must be 1..25\n");
				return 1;
			}
			break;
		default:
			return 2;
		}
	}
	FILE *in = stdin;
	if (optind < argc) {
		in = fopen(argv[optind], "r");
		if (!in) { perror(argv[optind]); return 1; }
	}
	if (decode) key = 26 - key;
	int c;
	while ((c = fgetc(in)) != EOF) {
		int out = shift(c, key);
		if (only_letters && out == c)
			continue;
		putchar(out);
	}
	if (in != stdin)
		fclose(in);
	return 0;
}
