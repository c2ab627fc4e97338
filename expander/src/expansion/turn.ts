/** The turn of a client's single requests, or of one of its lists. */
export const turnOf = (client = '', list?: number) => (list === undefined ? client : `${client}#${list}`);

/** The client whose turn it is. */
export const clientOf = (turn: string) => turn.replace(/#.*/, '');

/** Counts by name, such as those of a client or of a turn. A count of 0 takes no memory. */
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
