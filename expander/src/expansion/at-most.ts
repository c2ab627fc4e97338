/**
 * Options for an `LRUCache` with at most `count` entries. The option `max` would reserve memory for all of them, which delays the
 * start of the command.
 */
export const atMost = (count: number) => ({ maxSize: count, sizeCalculation: () => 1 });
