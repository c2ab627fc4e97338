/** Every key has the one hash tag, so that a Redis Cluster keeps them together and scripts may use them. */
export const keys = {
  /** A sorted set of all ids, in the order of the list. */
  index: '{tasks}:index',
  version: '{tasks}:version',
  /** A list of the ids that the last versions changed, the newest first. */
  recent: '{tasks}:recent',
  lastId: '{tasks}:last-id',
  /** A hash for each task, which is there where the index has its id: this and the id. */
  task: '{tasks}:task:',
  /** A sorted set of the ids of removed tasks, by the time of their removal. Each keeps its hash for a day. */
  removed: '{tasks}:removed',
  /** What one removal removed: the entries that left the index. This and its name. */
  removal: '{tasks}:removal:',
  /** A hash that is no task, as `repair` found it: this and its id. */
  damaged: '{tasks}:damaged:',
  /** The id of the task that a form made: this and a digest. */
  nonce: '{tasks}:nonce:',
  /** What request-forgery tokens are made with. */
  csrfKey: '{tasks}:csrf-key',
};

/** What scripts name first that read or change the list. */
export const listKeys = [keys.index, keys.version, keys.recent];

/** Redis tells every replica of each new version here. */
export const channel = '{tasks}:changes';
