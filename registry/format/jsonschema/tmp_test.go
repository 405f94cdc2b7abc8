package jsonschema
import ("testing";"os";"time";"fmt";"strings";"moldau/registry/format")
func TestTmpCost(t *testing.T){
 l:=format.DefaultLimits()
 f:=New(l)
 many:=func(n int, item func(i int) string, open, end string) string { var b strings.Builder; b.WriteString(open); for i:=range n { if i>0 {b.WriteByte(',')}; b.WriteString(item(i)) }; b.WriteString(end); return b.String() }
 cases:=map[string]string{
  "props": many(9900, func(i int) string{return fmt.Sprintf(`"p%d":{"type":"string"}`,i)}, `{"properties":{`, `}}`),
  "anyOf": many(9900, func(i int) string{return fmt.Sprintf(`{"maxLength":%d}`,i)}, `{"anyOf":[`, `]}`),
  "ids": many(9900, func(i int) string{return fmt.Sprintf(`"p%d":{"$id":"i%d"}`,i,i)}, `{"definitions":{`, `}}`),
  "ids2000": many(2000, func(i int) string{return fmt.Sprintf(`"p%d":{"$id":"i%d"}`,i,i)}, `{"definitions":{`, `}}`),
  "unknown": many(4900, func(i int) string{return fmt.Sprintf(`"p%d":{"$ref":"#/x/a%d"}`,i,i)}, `{"properties":{`, `},`)+many(4900, func(i int) string{return fmt.Sprintf(`"a%d":{"type":"string"}`,i)}, `"x":{`, `}}`),
  "unknown1000": many(1000, func(i int) string{return fmt.Sprintf(`"p%d":{"$ref":"#/x/a%d"}`,i,i)}, `{"properties":{`, `},`)+many(1000, func(i int) string{return fmt.Sprintf(`"a%d":{"type":"string"}`,i)}, `"x":{`, `}}`),
  "anchors": many(9900, func(i int) string{return fmt.Sprintf(`"p%d":{"$id":"#i%d"}`,i,i)}, `{"definitions":{`, `}}`),
  "refs": many(4900, func(i int) string{return fmt.Sprintf(`"p%d":{"$ref":"#/definitions/a%d"}`,i,i)}, `{"properties":{`, `},`)+many(4900, func(i int) string{return fmt.Sprintf(`"a%d":{"type":"string"}`,i)}, `"definitions":{`, `}}`),
  "enum": many(9900, func(i int) string{return fmt.Sprintf(`"p%d"`,i)}, `{"enum":[`, `]}`),
  "required": many(100000, func(i int) string{return fmt.Sprintf(`"%d"`,i)}, `{"required":[`, `]}`),
  "default": many(100000, func(i int) string{return fmt.Sprintf(`{"a":%d}`,i)}, `{"default":[`, `]}`),
  "patterns": many(9000, func(i int) string{return fmt.Sprintf(`"^(?!x)p%d+$":{}`,i)}, `{"patternProperties":{`, `},"additionalProperties":false}`),
  "stray": many(9000, func(i int) string{return fmt.Sprintf(`"p%d":{"additionalItems":false}`,i)}, `{"properties":{`, `}}`),
  "bombs": many(4000, func(i int) string{return fmt.Sprintf(`"((a{1,30}){1,30}x%d)":{}`,i)}, `{"patternProperties":{`, `}}`),
  "bigbomb": `{"pattern":"`+strings.Repeat(`(a{1,1000})`, 700)+`"}`,
 }
 for name, text := range cases { if o:=os.Getenv("ONLY"); o!="" && o!=name {continue}
  at:=time.Now()
  s,err:=f.Parse(t.Context(), format.Source{Text:text,New:true})
  d1:=time.Since(at)
  if err!=nil { t.Logf("%s: %d bytes parse %v: %.100v",name,len(text),d1,err); continue}
  at=time.Now()
  _,err=f.Check(t.Context(),s,s,format.CheckOptions{})
  t.Logf("%s: %d bytes parse %v, check %v %.100v",name,len(text),d1,time.Since(at),err)
 }
}
