import DataLoader from 'dataloader';

/**
 * Creates a function that collects the items of one turn of the event loop, `maxBatch` at a time, and hands each batch
 * to `runBatch`. Every caller gets the result in its item's place. When a batch fails, all its callers get the error.
 */
export function createBatcher<Item, Result>(
  runBatch: (items: readonly Item[]) => Promise<Result[]>,
  maxBatch?: number,
): (item: Item) => Promise<Result> {
  const loader = new DataLoader(runBatch, {
    cache: false,
    maxBatchSize: maxBatch,
    batchScheduleFn: (run) => void setImmediate(run),
  });
  return (item) => loader.load(item);
}
