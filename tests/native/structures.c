/* Lists, trees and hash tables on the heap; structs and unions by value; bit-fields; realloc. */
#include "report.h"
#include <string.h>

struct node { struct node *left, *right; int key; unsigned short count : 5, kind : 9; signed int delta : 4; };
static struct node *insert(struct node *t, int key) {
    if (!t) {
        t = calloc(1, sizeof *t);
        t->key = key;
        t->kind = key;
        t->delta = key;
    } else if (key != t->key) {
        struct node **side = key < t->key ? &t->left : &t->right;
        *side = insert(*side, key);
    }
    t->count++;
    t->delta += 3;
    return t;
}
static unsigned walk(struct node *t, unsigned hash) {
    if (!t) return fold(hash, 17);
    hash = walk(t->left, hash);
    hash = fold(hash, (unsigned)t->key);
    hash = fold(hash, t->count << 16 | t->kind);
    hash = fold(hash, (unsigned)(int)t->delta);
    hash = walk(t->right, hash);
    free(t);
    return hash;
}

struct list { int value; struct list *next; };
static struct list *reverse(struct list *l) {
    struct list *done = NULL;
    while (l) { struct list *next = l->next; l->next = done; done = l; l = next; }
    return done;
}

struct small { char c; short s; };
struct medium { int a; double d; };
struct large { long long v[5]; char name[7]; };
struct mixed { float f[3]; unsigned char b; };
static struct small small(char c) { struct small x = {c, (short)(c * 300)}; return x; }
static struct medium medium(struct small s, float f) { return (struct medium){s.c + s.s, f * 1.5}; }
static struct large large(struct medium m, struct large l) { l.v[2] += m.a; l.v[4] = (long long)(m.d * 8); l.name[3] ^= 1; return l; }
static struct mixed mixed(struct mixed m, int i) { m.f[i % 3] += i; m.b++; return m; }

union view { float f; unsigned u; unsigned char bytes[4]; struct { unsigned mantissa : 23, exponent : 8, sign : 1; } parts; };

struct entry { char *key; int value; };
struct table { struct entry *entries; size_t capacity, used; };
static unsigned hash_of(const char *s) { unsigned h = 5381; while (*s) h = h * 33 ^ (unsigned char)*s++; return h; }
static int *lookup(struct table *t, const char *key) {
    if (2 * t->used >= t->capacity) {
        struct table bigger = {calloc(2 * t->capacity + 8, sizeof *bigger.entries), 2 * t->capacity + 8, 0};
        for (size_t i = 0; i < t->capacity; i++)
            if (t->entries[i].key) {
                *lookup(&bigger, t->entries[i].key) = t->entries[i].value;
                free(t->entries[i].key);
            }
        free(t->entries);
        *t = bigger;
    }
    size_t i = hash_of(key) % t->capacity;
    while (t->entries[i].key && strcmp(t->entries[i].key, key) != 0) i = (i + 1) % t->capacity;
    if (!t->entries[i].key) {
        t->entries[i].key = strcpy(malloc(strlen(key) + 1), key);
        t->used++;
    }
    return &t->entries[i].value;
}

int main(void) {
    unsigned hash = 1;
    struct node *tree = NULL;
    for (int i = 0, x = 1; i < 300; i++, x = (x * 37 + 11) % 199) tree = insert(tree, x - 100);
    hash = walk(tree, hash);

    struct list *list = NULL;
    for (int i = 0; i < 50; i++) {
        struct list *l = malloc(sizeof *l);
        l->value = i * i;
        l->next = list;
        list = l;
        if (i % 7 == 0) list = reverse(list);
    }
    while (list) { struct list *next = list->next; hash = fold(hash, list->value); free(list); list = next; }

    struct large l = {{1, 2, 3, 4, 5}, "abcdef"};
    struct mixed m = {{1, 2, 3}, 250};
    for (int i = 0; i < 20; i++) { l = large(medium(small((char)(i * 13)), i / 4.0f), l); m = mixed(m, i); }
    for (int i = 0; i < 5; i++) hash = fold(hash, l.v[i]);
    hash = fold(hash, m.b);
    for (int i = 0; i < 3; i++) { union view v = {m.f[i]}; hash = fold(hash, v.u); hash = fold(hash, v.parts.exponent); v.parts.mantissa /= 2; v.bytes[3] ^= 0x80; hash = fold(hash, v.u); }

    struct table t = {0};
    char key[12];
    for (int i = 0; i < 400; i++) {
        int n = 0;
        for (int x = i * i % 97 + 1; x; x /= 3) key[n++] = 'a' + x % 3;
        key[n] = 0;
        *lookup(&t, key) += i;
    }
    for (size_t i = 0; i < t.capacity; i++)
        if (t.entries[i].key) { hash = fold(hash, hash_of(t.entries[i].key)); hash = fold(hash, t.entries[i].value); free(t.entries[i].key); }
    free(t.entries);

    int *growing = NULL, length = 0;
    for (int n = 1; n < 200; n += n / 2 + 1) {
        growing = realloc(growing, n * sizeof *growing);
        while (length < n) { growing[length] = length * n; length++; }
        growing[n / 2] += n;
        hash = fold(hash, growing[n / 3]);
        hash = fold(hash, growing[n / 2]);
    }
    free(growing);
    report(hash);
}
