/* A queue of numbers in a ring buffer: "put N", "get", "peek", "size", "quit". */
#include <stdio.h>
#include <string.h>

#define SIZE 4

struct ring { int slots[SIZE]; int head, used; };

int put(struct ring *r, int value) {
  if (r->used == SIZE) return 0;
  r->slots[(r->head + r->used) % SIZE] = value;
  r->used++;
  return 1;
}

int get(struct ring *r, int *value) {
  if (r->used == 0) return 0;
  *value = r->slots[r->head];
  r->head++;
  if (r->head == SIZE) r->head = 0;
  r->used--;
  return 1;
}

int main(void) {
  struct ring ring = {0};
  char command[8];
  int value;
  while (scanf("%7s", command) == 1) {
    if (strcmp(command, "put") == 0) {
      if (scanf("%d", &value) != 1) {
        printf("put what?\n");
        return 1;
      }
      if (!put(&ring, value)) printf("full\n");
    } else if (strcmp(command, "get") == 0) {
      if (get(&ring, &value)) printf("%d\n", value);
      else printf("empty\n");
    } else if (strcmp(command, "peek") == 0) {
      printf(ring.used ? "%d\n" : "empty\n", ring.slots[ring.head]);
    } else if (strcmp(command, "size") == 0) {
      printf("%d\n", ring.used);
    } else if (strcmp(command, "quit") == 0) {
      break;
    } else {
      printf("unknown command %s\n", command);
    }
  }
  if (ring.used > 0) printf("%d not taken\n", ring.used);
  return 0;
}
