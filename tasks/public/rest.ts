import { isBusy } from './pending.js';

/** Milliseconds without a touch or a key until the list is at rest. */
const pause = 4_000;

/** The same with an open menu, whose row the user may still be reading. */
const pauseWithMenu = 30_000;

let lastTouch = -Infinity;
let waiting: (() => void) | undefined;

/** Whether the user is typing, or has typed text that is not sent. */
function isWriting() {
  const field = document.activeElement as HTMLInputElement;
  if (!field.matches('input, textarea')) return false;
  return field.value !== '' || field.closest('.editing') !== null;
}

/** Milliseconds until the list is at rest if the user does nothing. */
function remaining() {
  if (document.hidden) return 0;
  if (isBusy() || isWriting()) return Infinity;
  const needed = document.querySelector('.tasks [open]') ? pauseWithMenu : pause;
  return Math.max(0, lastTouch + needed - performance.now());
}

/** Whether rows may move, because the user is not about to touch one. Scrolling is no touch. */
export const isAtRest = () => remaining() === 0;

/** Runs `step` once when the list is at rest. Replaces an earlier step. */
export function whenAtRest(step: () => void) {
  waiting = step;
  checkRest();
}

/** Looks again whether the list is at rest. */
export function checkRest() {
  if (!waiting) return;
  const milliseconds = remaining();
  if (milliseconds > 0) {
    // Several timers do no harm, because each looks again.
    if (milliseconds < Infinity) setTimeout(checkRest, milliseconds);
    return;
  }
  const step = waiting;
  waiting = undefined;
  step();
}

function touched() {
  lastTouch = performance.now();
  checkRest();
}

for (const type of ['pointerdown', 'pointerup', 'keydown', 'input', 'toggle'])
  document.addEventListener(type, touched, { capture: true, passive: true });
document.addEventListener('focusout', () => setTimeout(checkRest));
document.addEventListener('visibilitychange', checkRest);
