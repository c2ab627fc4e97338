import DataLoader from 'dataloader';

/**
 * Creates a function that collects the items of one turn of the event loop and hands them to `runBatch`. Every caller
 * gets the result in its item's place. When a batch fails, all its callers get the error.
 */
export function createBatcher<Item, Result>(
  runBatch: (items: readonly Item[]) => Promise<Result[]>,
): (item: Item) => Promise<Result> {
  const loader = new DataLoader(runBatch, {
    cache: false,
    batchScheduleFn: (run) => void setImmediate(run),
  });
  return (item) => loader.load(item);
}
