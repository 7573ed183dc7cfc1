import { join } from 'node:path';

export const projectFolder = join(__dirname, '..');

/** The project's ignored folder for everything that is made on the way: packed tarballs, logs. */
export const artifactsFolder = join(projectFolder, '.artifacts');
