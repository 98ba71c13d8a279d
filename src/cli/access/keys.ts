/** viem's key functions, in a module of its own: a build leaves out the rest, such as lists of words. */
export { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
