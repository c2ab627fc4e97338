import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The longest first: files with stacks in containers, then those that start other stacks, browsers or many processes. */
const long = [
  /\/(install|composed)\.test/,
  /\/(proxy|deploy|loadtest)\/|\.browser\.test|\/(worst-input|failover|reconnect|longhand-expand|main|redis)\.test/,
  /./,
];

/** Starts the files that take longest first: otherwise one worker is left with them while the others have nothing to do. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => long.findIndex((pattern) => pattern.test(moduleId));
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
