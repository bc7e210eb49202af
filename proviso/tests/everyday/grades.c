#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct student {
	char name[24];
	int points;
};

static int by_points(const void *p, const void *q)
{
	const struct student *a = p, *b = q;
	if (a->points != b->points)
		return b->points - a->points;
	return strcmp(a->name, b->name);
}

static char letter(int points)
{
	if (points >= 90) return 'A';
	if (points >= 80) return 'B';
	if (points >= 70) return 'C';
	if (points >= 60) return 'D';
	return 'F';
}

int main(void)
{
	struct student class[8];
	int n = 0, failed = 0;
	char line[64];

	while (n < 8 && fgets(line, sizeof line, stdin)) {
		struct student *s = &class[n];
		if (sscanf(line, "%23s %d", s->name, &s->points) != 2) {
			fprintf(stderr, "skipped: %s", line);
			continue;
		}
		if (s->points < 0 || s->points > 100) {
			fprintf(stderr, "%s: impossible points\n", s->name);
			return 1;
		}
		n++;
	}
	qsort(class, n, sizeof *class, by_points);
	for (int i = 0; i < n; i++) {
		char l = letter(class[i].points);
		printf("%2d. %-24s %3d %c\n", i + 1, class[i].name, class[i].points, l);
		if (l == 'F')
			failed++;
		if (i > 0 && strcmp(class[i - 1].name, class[i].name) == 0)
			printf("    (twice?)\n");
	}
	if (n > 0 && failed * 2 > n)
		printf("a hard test\n");
	return 0;
}
