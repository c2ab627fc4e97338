/** Runs one call per `client` at a time, in order. */
export function oneAtATime() {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(client: string, run: () => Promise<Result>): Promise<Result> => {
    const result = Promise.allSettled([last.get(client)]).then(() => run());
    last.set(client, result);
    try {
      return await result;
    } finally {
      if (last.get(client) === result) last.delete(client);
    }
  };
}
