/* Runs a script. */
#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

int main(int argc, char **argv) {
  lua_State *state = luaL_newstate();
  luaL_openlibs(state);
  int result = luaL_loadfilex(state, argv[1], 0) || lua_pcallk(state, 0, 0, 0, 0, 0);
  lua_close(state);
  return result;
}
