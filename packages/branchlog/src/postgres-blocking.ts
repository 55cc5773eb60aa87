/** `branchlog/postgres/blocking`. Lets session managers accept addresses; import it once. */
import "@branchlog/postgres/blocking";
