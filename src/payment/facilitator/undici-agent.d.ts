/** The part of undici that is used. The whole package takes twice as long to load, and makes Node's `fetch` send through it, too. */
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
