function d(n,e){return n&&Object.hasOwn(n,e)?n[e]:void 0}export{d as a};
