/* shortest way through a maze on stdin: # wall, S start, E end */
#include <stdio.h>
#include <string.h>

#define W 8
#define H 8

static char maze[H][W + 2];
static int dist[H][W];

int main(void)
{
	int rows = 0, sx = -1, sy = -1, ex = -1, ey = -1;
	while (rows < H && fgets(maze[rows], W + 2, stdin)) {
		maze[rows][strcspn(maze[rows], "\n")] = '\0';
		for (int x = 0; maze[rows][x] && x < W; x++) {
			if (maze[rows][x] == 'S') { sx = x; sy = rows; }
			if (maze[rows][x] == 'E') { ex = x; ey = rows; }
		}
		rows++;
	}
	if (sx < 0 || ex < 0) {
		puts("no start or no end");
		return 1;
	}
	int queue[W * H][2], first = 0, last = 0;
	memset(dist, -1, sizeof dist);
	dist[sy][sx] = 0;
	queue[last][0] = sx;
	queue[last++][1] = sy;
	while (first < last) {
		static const int dx[] = {1, 0, -1, 0}, dy[] = {0, 1, 0, -1};
		int x = queue[first][0], y = queue[first++][1];
		if (x == ex && y == ey) {
			printf("%d steps\n", dist[y][x]);
			return 0;
		}
		for (int d = 0; d < 4; d++) {
			int nx = x + dx[d], ny = y + dy[d];
			if (nx < 0 || ny < 0 || nx >= W || ny >= rows)
				continue;
			if (maze[ny][nx] == '\0' || maze[ny][nx] == '#' || dist[ny][nx] >= 0)
				continue;
			dist[ny][nx] = dist[y][x] + 1;
			queue[last][0] = nx;
			queue[last++][1] = ny;
		}
	}
	puts("no way out");
	return 1;
}
