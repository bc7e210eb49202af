/* Packs or unpacks standard input. */
#include "zlib.h"
#include <stdio.h>

int main(int argc, char **argv) {
  static unsigned char in[4096], out[4096];
  z_stream stream = {0};
  int packing = argc < 2, result, flush;
  result = packing ? deflateInit(&stream, 6) : inflateInit(&stream);
  if (result != Z_OK) return 1;
  do {
    stream.avail_in = fread(in, 1, sizeof in, stdin);
    flush = feof(stdin) ? Z_FINISH : Z_NO_FLUSH;
    stream.next_in = in;
    do {
      stream.avail_out = sizeof out;
      stream.next_out = out;
      result = packing ? deflate(&stream, flush) : inflate(&stream, flush);
      if (result < 0) {
        fprintf(stderr, "%s\n", stream.msg ? stream.msg : "failed");
        return 1;
      }
      fwrite(out, 1, sizeof out - stream.avail_out, stdout);
    } while (stream.avail_out == 0);
  } while (flush != Z_FINISH);
  return packing ? deflateEnd(&stream) : inflateEnd(&stream);
}
