#include <stdio.h>

enum state { CODE, SLASH, LINE, BLOCK, STAR, STRING, ESCAPE };

int main(void)
{
  enum state s = CODE;
  int c, comments = 0;
  while ((c = getchar()) != EOF) {
    switch (s) {
    case CODE:
      if (c == '/') s = SLASH;
      else {
        if (c == '"') s = STRING;
        putchar(c);
      }
      break;
    case SLASH:
      if (c == '/') s = LINE;
      else if (c == '*') s = BLOCK;
      else {
        putchar('/');
        putchar(c);
        s = c == '"' ? STRING : CODE;
      }
      break;
    case LINE:
      if (c == '\n') {
        putchar(c);
        comments++;
        s = CODE;
      }
      break;
    case BLOCK:
      if (c == '*') s = STAR;
      break;
    case STAR:
      if (c == '/') {
        comments++;
        putchar(' ');
        s = CODE;
      } else if (c != '*') s = BLOCK;
      break;
    case STRING:
      putchar(c);
      if (c == '\\') s = ESCAPE;
      else if (c == '"') s = CODE;
      break;
    case ESCAPE:
      putchar(c);
      s = STRING;
      break;
    }
  }
  if (s == BLOCK || s == STAR) {
    fprintf(stderr, "comment not closed\n");
    return 1;
  }
  if (s == STRING || s == ESCAPE) {
    fprintf(stderr, "string not closed\n");
    return 1;
  }
  fprintf(stderr, "%d comments\n", comments);
  return 0;
}
