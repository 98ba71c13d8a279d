/** A separate file, so that only users of the play wallet load the cryptography. */
export { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
