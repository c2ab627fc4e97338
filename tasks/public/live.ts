import { enqueue, refresh } from './change.js';
import { list } from './dom.js';
import { editRestored } from './editing.js';
import { complain, endPassingComplaints, mention, report } from './notice.js';
import { failureOf } from './request.js';
import { endSession, hasSession, listen } from './stream.js';
import { settleUnanswered } from './unanswered.js';

/** The last announced version. A slow page skips the versions in between. */
let latest = '';

function heard(version: string) {
  latest = version;
  endPassingComplaints();
  dispatchEvent(new Event('connected'));
  enqueue(async () => {
    const shown = list().dataset.version;
    if (latest === shown) return;
    // A search is too expensive to repeat for each change.
    if (document.querySelector('.found'))
      return mention('The list changed.', { href: '', textContent: 'Search again' });
    await refreshQuietly();
    if (shown !== list().dataset.version)
      mention(`The list changed: ${document.getElementById('count')?.textContent}`);
  });
  enqueue(settleUnanswered);
  enqueue(editRestored);
}

/** Updates the list. Reports only the end of the session, and only once: the server soon sends the version again. */
const refreshQuietly = () =>
  refresh().catch((error) => {
    const failure = failureOf(error);
    const isTold = failure.kind === 'logged out' || failure.kind === 'script error';
    if (hasSession() && isTold) report(failure);
  });

// The login opens in a new tab to keep typed text.
addEventListener('loggedout', () => {
  const link = { href: '/login', target: '_blank', textContent: 'Log in' };
  complain('You are logged out.', { isPassing: true }, link);
  endSession();
});
listen({ heard, refused: () => enqueue(refreshQuietly) });
