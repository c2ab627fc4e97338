/**
 * Divides work by client: at most `count` calls of a client run at a time, and its other calls wait in order.
 *
 * @returns a function that waits for a place and resolves with a function that frees it
 */
export function createPlaces(count: number) {
  const clients = new Map<string, { taken: number; waiting: (() => void)[] }>();
  return async (client: string): Promise<() => void> => {
    const places = clients.get(client) ?? { taken: 0, waiting: [] };
    clients.set(client, places);
    if (places.taken < count) places.taken += 1;
    else await new Promise<void>((resolve) => places.waiting.push(resolve));
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      const next = places.waiting.shift();
      if (next) return next();
      places.taken -= 1;
      if (places.taken === 0) clients.delete(client);
    };
  };
}

/** Runs one call per `client` at a time, in order. */
export function oneAtATime() {
  const place = createPlaces(1);
  return async <Result>(client: string, run: () => Promise<Result>): Promise<Result> => {
    const free = await place(client);
    try {
      return await run();
    } finally {
      free();
    }
  };
}
