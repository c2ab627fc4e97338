import { z } from 'zod';
import { type TaskText, textNames, textOf } from '../task/schema.ts';
import type { Change, Task } from '../task/task.ts';

type Name = (typeof textNames)[number];

/** A form's fields as sent. The field `was.<name>` has the text before the edit. */
type Sent = Record<string, unknown>;

const wasName = (name: Name) => `was.${name}`;

/** The form fields with the text before the edit. */
export const wasFields: Record<string, z.ZodOptional<z.ZodString>> = Object.fromEntries(
  textNames.map((name) => [wasName(name), z.string().optional()]),
);

/** Returns the text before the edit, for the fields that the form has. */
export const wasIn = (sent: Sent): TaskText =>
  textOf(Object.fromEntries(textNames.map((name) => [name, sent[wasName(name)]])) as TaskText);

/** Returns the text that the user has changed. A field without its former text counts as changed. */
export function changedText(sent: Sent): TaskText {
  const was = wasIn(sent);
  const changed = textNames.filter((name) => sent[name] !== was[name]);
  return textOf(Object.fromEntries(changed.map((name) => [name, sent[name]])) as TaskText);
}

/** Whether somebody else has changed a field of `change` to another value. */
export function isConflict(change: Change, was: TaskText, current: Task): boolean {
  return Object.entries(change).some(([name, value]) => {
    const now = current[name as keyof Change];
    return now !== value && now !== was[name as Name];
  });
}

/** Returns the text of a form to show again after a conflict: the user's, and the current text of unchanged fields. */
export const mergedText = (sent: Sent, current: Task): TaskText => ({
  ...textOf(current),
  ...changedText(sent),
});

/** Returns the text before `change`, or undefined if the change or its form has none. */
export function textBefore(change: Change, was: TaskText): TaskText | undefined {
  const changed = Object.entries(was).filter(([name]) => change[name as Name] !== undefined);
  return changed.length > 0 ? (Object.fromEntries(changed) as TaskText) : undefined;
}
