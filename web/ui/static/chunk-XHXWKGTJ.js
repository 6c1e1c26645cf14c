var i=/[\u0000-\u001f\u007f-\u009f]/g,o={"\n":"\\n","\r":"\\r","	":"\\t"};function e(n){return`'${n.replaceAll("\\","\\\\").replaceAll("'","''").replace(i,r=>o[r]??g(r))}'`}function g(n){return[...new TextEncoder().encode(n)].map(t=>`\\x${t.toString(16).padStart(2,"0")}`).join("")}function u(n,t){return t.length?[`${n} IN (${t.map(e).join(", ")})`]:[]}function s(n,t,r){return[...t?[`${n} >= ${e(`${t}`)}`]:[],...r?[`${n} < ${e(`${r}`)}`]:[]]}function l(n){return n.length?`
WHERE ${n.join(`
  AND `)}`:""}export{e as a,u as b,s as c,l as d};
