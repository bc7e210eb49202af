/* Runs statements on a database. */
#include "sqlite3.h"
#include <stdio.h>

static int row(void *unused, int columns, char **values, char **names) {
  for (int i = 0; i < columns; i++)
    fprintf(stdout, "%s=%s\n", names[i], values[i] ? values[i] : "NULL");
  return 0;
}

int main(int argc, char **argv) {
  sqlite3 *database;
  char *message = 0;
  if (argc < 3) return 2;
  int result = sqlite3_open(argv[1], &database);
  if (result) {
    fprintf(stderr, "%s\n", sqlite3_errmsg(database));
    return 1;
  }
  result = sqlite3_exec(database, argv[2], row, 0, &message);
  if (result != SQLITE_OK) {
    fprintf(stderr, "%s\n", message);
    sqlite3_free(message);
  }
  sqlite3_close(database);
  return result;
}
