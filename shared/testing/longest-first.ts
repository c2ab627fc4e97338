import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that start whole stacks, browsers or many processes. */
const long = /\/(proxy|deploy|loadtest)\/|\.browser\.test|\/(worst-input|failover|reconnect|restart)\.test/;

/** Starts the files that take longest first: otherwise one worker is left with them while the others have nothing to do. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => (long.test(moduleId) ? 0 : 1);
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
