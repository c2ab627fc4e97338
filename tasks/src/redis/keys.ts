/**
 * Version of the data format. Increase the version only for a change that breaks the previous release. The new release
 * then migrates the keys and sets `schema`, and older releases stop writing. The version is 1 if `schema` is missing.
 */
export const schemaVersion = 1;

/** All keys and the channel `changes` (see CONTRIBUTING.md). The common prefix allows a single ACL pattern. */
export const keys = {
  index: '{tasks}:index',
  version: '{tasks}:version',
  schema: '{tasks}:schema',
  lastId: '{tasks}:last-id',
  task: '{tasks}:task:',
  removed: '{tasks}:removed',
  removal: '{tasks}:removal:',
  removals: '{tasks}:removals',
  nonce: '{tasks}:nonce:',
  sent: '{tasks}:sent:',
  added: '{tasks}:added:',
  csrfKey: '{tasks}:csrf-key',
  /** Set by deploy/redis/backup.sh. */
  backup: '{tasks}:backup',
  changes: '{tasks}:changes',
};
