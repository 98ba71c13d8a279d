/** The build copies them beside the scripts and gives their addresses. */
declare module '*.pdf' {
  const address: string;
  export default address;
}
declare module '*.png' {
  const address: string;
  export default address;
}
declare module '*.jpg' {
  const address: string;
  export default address;
}
declare module '*.md' {
  const address: string;
  export default address;
}
declare module '*.txt' {
  const address: string;
  export default address;
}
