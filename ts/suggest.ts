/** The option that somebody probably meant. */
export { suggest } from './cli/suggest';
