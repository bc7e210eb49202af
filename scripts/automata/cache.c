/* memcached: a cache of buffers with a limit. */
#include "cache.h"

int main(void) {
    cache_t *cache = cache_create("test", 64, sizeof(char *));
    if (cache == NULL)
        return 1;
    cache_set_limit(cache, 1);
    void *one = cache_alloc(cache);
    void *two = cache_alloc(cache);
    if (two)
        cache_free(cache, two);
    if (one)
        cache_free(cache, one);
    cache_destroy(cache);
    return 0;
}
