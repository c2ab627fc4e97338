/** PATH with the folders of Debian's nginx, which users other than root may not have. */
export const searchPath = (env: NodeJS.ProcessEnv) => `${env.PATH}:/usr/local/sbin:/usr/sbin`;
