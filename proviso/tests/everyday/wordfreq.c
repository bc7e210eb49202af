/* wordfreq - counts words with a hash table */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 16
#define MAXWORD 20

struct entry {
  char word[MAXWORD + 1];
  int count;
  struct entry *next;
};

static struct entry *table[BUCKETS];

static unsigned hash(const char *s) {
  unsigned h = 5381;
  while (*s) h = h * 33 + (unsigned char)*s++;
  return h % BUCKETS;
}

static void add(const char *word) {
  unsigned h = hash(word);
  struct entry *e;
  for (e = table[h]; e != NULL; e = e->next)
    if (strcmp(e->word, word) == 0) {
      e->count++;
      return;
    }
  e = malloc(sizeof *e);
  if (!e) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  strcpy(e->word, word);
  e->count = 1;
  e->next = table[h];
  table[h] = e;
}

int main(int argc, char **argv) {
  int least = 1;
  if (argc > 1) least = atoi(argv[1]);
  char word[MAXWORD + 1];
  int length = 0, c;
  do {
    c = getchar();
    if (c != EOF && isalpha(c)) {
      if (length < MAXWORD) word[length++] = tolower(c);
    } else if (length > 0) {
      word[length] = '\0';
      add(word);
      length = 0;
    }
  } while (c != EOF);
  int distinct = 0, longest = 0;
  for (int i = 0; i < BUCKETS; i++) {
    int chain = 0;
    for (struct entry *e = table[i]; e; e = e->next) {
      chain++;
      distinct++;
      if (e->count >= least) printf("%7d %s\n", e->count, e->word);
    }
    if (chain > longest) longest = chain;
  }
  if (longest > 1) printf("longest chain: %d\n", longest);
  for (int i = 0; i < BUCKETS; i++)
    while (table[i]) {
      struct entry *next = table[i]->next;
      free(table[i]);
      table[i] = next;
    }
  return distinct == 0;
}
