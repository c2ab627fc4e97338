/**
 * Gathers the questions of one turn of the event loop, `most` at a time, so that `askAll` asks them together and
 * answers each in its place. A fault is one for all who asked together.
 */
export function gathered<Question, Answer>(
  askAll: (questions: Question[]) => Promise<Answer[]>,
  most = Number.POSITIVE_INFINITY,
): (question: Question) => Promise<Answer> {
  let open: { questions: Question[]; answers: Promise<Answer[]> } | undefined;

  const begin = () => {
    const questions: Question[] = [];
    const turn = new Promise<void>((over) => setImmediate(over));
    const answers = turn.then(() => {
      if (open?.questions === questions) open = undefined;
      return askAll(questions);
    });
    return { questions, answers };
  };

  return async (question) => {
    open ??= begin();
    const { questions, answers } = open;
    const place = questions.push(question) - 1;
    if (questions.length === most) open = undefined;
    return (await answers)[place] as Answer;
  };
}
