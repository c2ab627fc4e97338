/** The URLs of `make up`, by the variable that names another stack. */
export const stackUrls = {
  PROXY_URL: 'http://127.0.0.1:8080',
  EXPANDER_URL: 'http://127.0.0.1:8081',
  TASKS_URL: 'http://127.0.0.1:8082',
};
