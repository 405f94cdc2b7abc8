import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.OutputStream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;

/**
 * Reads frames of a byte, a length and so many bytes: A is an Avro schema, P a FileDescriptorProto whose first message is
 * meant, D a payload of the last schema. Each is answered with a byte: 1 accepted, 0 refused, 3 accepted with bytes left,
 * 2 not decided because memory or stack ran out.
 */
public final class Decoders {
  private static GenericDatumReader<Object> avro;
  private static Descriptor message;

  public static void main(String[] args) throws Exception {
    DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
    OutputStream out = new BufferedOutputStream(System.out, 1 << 16);
    while (true) {
      int kind = in.read();
      if (kind < 0) {
        break;
      }
      byte[] body = new byte[in.readInt()];
      in.readFully(body);
      out.write(answer(kind, body));
      if (in.available() == 0) {
        out.flush();
      }
    }
    out.flush();
  }

  private static int answer(int kind, byte[] body) {
    try {
      switch (kind) {
        case 'A':
          message = null;
          avro = new GenericDatumReader<>(new Schema.Parser().parse(new String(body, "UTF-8")));
          return 1;
        case 'P':
          FileDescriptorProto file = FileDescriptorProto.parseFrom(body);
          message = FileDescriptor.buildFrom(file, new FileDescriptor[0]).getMessageTypes().get(0);
          return 1;
        default:
          return decode(body);
      }
    } catch (StackOverflowError | OutOfMemoryError e) {
      return 2;
    } catch (Exception e) {
      if (System.getenv("DECODERS_VERBOSE") != null) {
        e.printStackTrace();
      }
      return 0;
    }
  }

  private static int decode(byte[] body) throws Exception {
    if (message != null) {
      DynamicMessage.parseFrom(message, body);
      return 1;
    }
    BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(body, null);
    avro.read(null, decoder);
    return decoder.isEnd() ? 1 : 3;
  }
}
