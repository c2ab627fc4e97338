/**
 * Runs `act` and resolves with the milliseconds of CPU time that the longest turn of the event loop took meanwhile: for
 * so long nobody else was served. CPU time, because a busy machine adds to every other clock.
 */
export async function longestTurn(act: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = process.threadCpuUsage();
  const turn = () => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1_000);
    last = process.threadCpuUsage();
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  try {
    await act();
  } finally {
    turn();
    clearImmediate(next);
  }
  return longest;
}
