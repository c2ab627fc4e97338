interface LoggedError {
  type: string;
  message: string;
  code: string | undefined;
  stack: string | undefined;
  cause: LoggedError | string | undefined;
}

/** Converts an error for the log. Drops custom fields, because ioredis adds command arguments, such as a password or a title. */
export function loggedError(error: unknown): LoggedError | string {
  if (!(error instanceof Error)) return String(error);
  const { name: type, message, code, stack = '', cause } = error as NodeJS.ErrnoException;
  return {
    type,
    message: withoutArguments(message),
    code,
    stack: withoutArguments(stack),
    cause: cause === undefined ? undefined : loggedError(cause),
  };
}

/** Redis's error for an unknown command contains the arguments. */
const withoutArguments = (text: string) => text.replace(/, with args beginning with: .*/g, '');
