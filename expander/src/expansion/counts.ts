/** Counts by name. What counts nothing takes no memory. */
export function createCounts() {
  const counts = new Map<string, number>();
  const count = (name: string) => counts.get(name) ?? 0;
  /** @returns the count now. */
  const add = (name: string, change: 1 | -1) => {
    const now = count(name) + change;
    if (now > 0) counts.set(name, now);
    else counts.delete(name);
    return now;
  };
  return { count, add, names: () => counts.keys() };
}
