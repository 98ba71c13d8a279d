/** Apart from the command, so that the other commands need not load the models' code. */
export const MODELS_HELP = `farthing models list                   every model of the manifest, and what of it is here
farthing models pull NAME [--offline]  brings its files: taken up where it broke off, checked, installed at once
farthing models verify                 hashes every file and compares; exit code 1 when a used model is wrong
farthing models use NAME               makes it serve its family, from the next start on`;
