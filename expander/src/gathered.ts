/** Questions that travel together at the most: with the largest answers, 4 MiB. */
const most = 64;

/**
 * Gathers the questions of one turn of the event loop, so that `askAll` asks them together: a command costs its
 * client many times what one more key in it does.
 */
export function gathered<Answer>(
  askAll: (keys: string[]) => Promise<Answer[]>,
): (key: string) => Promise<Answer> {
  let open: { keys: string[]; answers: Promise<Answer[]> } | undefined;

  const begin = () => {
    const keys: string[] = [];
    const turn = new Promise<void>((over) => setImmediate(over));
    const answers = turn.then(() => {
      if (open?.keys === keys) open = undefined;
      return askAll(keys);
    });
    return { keys, answers };
  };

  return async (key) => {
    open ??= begin();
    const { keys, answers } = open;
    const place = keys.push(key) - 1;
    if (keys.length === most) open = undefined;
    return (await answers)[place] as Answer;
  };
}
