/** What observers throw to end a launch. The device knows them without loading an observer. */

/** Thrown to stop a launch in which a thread polls forever. */
export class Deadlock extends Error {}

/** Thrown if a block takes so long that its threads may wait for each other. */
export class BlockTimeout extends Error {}

/** Thrown if threads record more than there is room for. */
export class TooLong extends Error {}

/** Thrown if a record is none of the kernel. */
export class Overwritten extends Error {}
