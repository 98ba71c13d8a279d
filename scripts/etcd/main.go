// The server of etcd, from its Go module: `go install` refuses it, because its go.mod replaces modules.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
