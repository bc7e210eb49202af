#include <ctype.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char *argv[])
{
  int counts[26] = {0};
  if (argc != 3) {
    fprintf(stderr, "anagram needs two words\n");
    return 2;
  }
  for (char *p = argv[1]; *p; ++p)
    if (isalpha((unsigned char)*p))
      counts[tolower((unsigned char)*p) - 'a']++;
  for (char *p = argv[2]; *p; ++p)
    if (isalpha((unsigned char)*p))
      counts[tolower((unsigned char)*p) - 'a']--;
  int missing = 0, extra = 0;
  for (int i = 0; i < 26; ++i) {
    if (counts[i] > 0) missing += counts[i];
    if (counts[i] < 0) extra -= counts[i];
  }
  if (!missing && !extra) {
    if (strcmp(argv[1], argv[2]) == 0)
      puts("the same word");
    else
      puts("anagram");
    return 0;
  }
  if (missing == 1 && extra == 1)
    puts("one letter differs");
  else if (missing == 0)
    puts("contained");
  else
    puts("different");
  return 1;
}
