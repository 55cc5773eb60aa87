/** `branchlog/postgres/blocking`. Lets session managers take addresses; importing it is all. */
import "@branchlog/postgres/blocking";
