/* Conway's Game of Life: a grid on stdin, the number of generations as argument */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 6

static char grid[N][N + 1], next[N][N + 1];

static int neighbours(int y, int x) {
  int n = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      if ((i || j) && y + j >= 0 && y + j < N && x + i >= 0 && x + i < N && grid[y + j][x + i] == '*') n++;
  return n;
}

int main(int argc, char **argv) {
  int generations = argc == 2 ? atoi(argv[1]) : 1;
  if (generations < 1 || generations > 50) return 2;
  char line[40];
  memset(grid, '.', sizeof grid);
  for (int y = 0; y < N && fgets(line, sizeof line, stdin); y++)
    for (int x = 0; x < N && line[x] != '\n' && line[x] != '\0'; x++)
      if (line[x] == '*') grid[y][x] = '*';
  int g, alive = 0, same = 0;
  for (g = 0; g < generations && !same; g++) {
    alive = 0;
    same = 1;
    for (int y = 0; y < N; y++)
      for (int x = 0; x < N; x++) {
        int n = neighbours(y, x);
        next[y][x] = n == 3 || (n == 2 && grid[y][x] == '*') ? '*' : '.';
        if (next[y][x] != grid[y][x]) same = 0;
        if (next[y][x] == '*') alive++;
      }
    memcpy(grid, next, sizeof grid);
  }
  for (int y = 0; y < N; y++) printf("%.*s\n", N, grid[y]);
  if (alive == 0) puts("extinct");
  else if (same) printf("stable after %d\n", g);
  return 0;
}
